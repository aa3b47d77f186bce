import { describe } from 'node:test';
import { testRequestBudgets } from '../../support/request-budgets.ts';

// test/system/full/http/request-budgets.test.ts tries six times as many values.
describe('CPU cost of the largest requests', () => testRequestBudgets(6));
