// All tests of a Ray of one node, which they share: most of the cost of a Ray is its start.
import { after, before, describe } from 'node:test';
import { ONE_NODE, type RayHead, startRayHead } from '../support/ray-head.ts';
import { testActors } from './actors.ts';
import { testBrokenConnections } from './broken-connections.ts';
import { testObjectsAndTasks } from './objects-and-tasks.ts';

let head: RayHead;
before(async () => {
  head = await startRayHead(ONE_NODE);
});
after(async () => {
  await head?.[Symbol.asyncDispose]();
});

describe('on a Ray of one node', () => {
  describe('objects and tasks', () => testObjectsAndTasks(() => head));
  describe('actors', () => testActors(() => head));
  describe('broken connections', () => testBrokenConnections(() => head));
});
