import { describe } from 'node:test';
import { testRequestBudgets } from '../../support/request-budgets.ts';

// request-budgets.full.test.ts tries thirty times as many values.
describe('CPU cost of the largest requests', () => testRequestBudgets(30));
