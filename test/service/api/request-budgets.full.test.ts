import { describe } from 'node:test';
import { testRequestBudgets } from '../../support/request-budgets.ts';

describe('CPU cost of the largest requests', () => testRequestBudgets(1));
