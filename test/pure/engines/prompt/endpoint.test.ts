import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { addressProblems, unlistedProblem } from '../../../../src/engines/prompt/endpoint.ts';

const ENDPOINTS = JSON.parse(readFileSync('test/golden/vectors/endpoints.json', 'utf8')) as Record<
  'metadata' | 'metadataNames' | 'usable',
  string[]
>;

test('a metadata service is refused in every way of writing it, and ordinary addresses are not', () => {
  for (const baseUrl of [...ENDPOINTS.metadata, ...ENDPOINTS.metadataNames]) {
    assert.equal(addressProblems(baseUrl)[0]?.field, '/model/baseUrl', baseUrl);
    assert.match(addressProblems(baseUrl)[0]!.message, /give out credentials/);
  }
  for (const baseUrl of ENDPOINTS.usable) assert.deepEqual(addressProblems(baseUrl), [], baseUrl);
});

test('an endpoint is listed by scheme, host and port', () => {
  const origins = ['https://api.openai.com', 'http://vllm:8000'];
  for (const listed of ['https://api.openai.com/v1', 'https://API.openai.com:443/v1', 'http://vllm:8000'])
    assert.deepEqual(unlistedProblem(listed, origins), [], listed);
  for (const other of [
    ...['http://api.openai.com/v1', 'https://api.openai.com:8443', 'https://api.openai.com.example.org'],
    ...['https://h/v1', 'http://127.0.0.1:8000/v1', 'http://vllm:8001', 'https://vllm:8000'],
  ]) {
    const [problem] = unlistedProblem(other, origins);
    assert.equal(problem?.field, '/model/baseUrl', other);
    assert.match(problem.message, /custom-code.*ECHELON_PROMPT_ENDPOINTS/);
  }
});
