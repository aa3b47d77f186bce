/** Made-up secrets of every kind that is known by its form. */
export const SECRETS: readonly { kind: string; secret: string }[] = [
  { kind: 'a Hugging Face token', secret: `hf_${'aB3dE5'.repeat(6)}` },
  { kind: 'an API key (sk-…)', secret: `sk-proj-${'aB3_dE5-'.repeat(5)}x` },
  { kind: 'an API key (sk-…)', secret: `sk-ant-api03-${'aB3dE5'.repeat(8)}` },
  { kind: 'a GitHub token', secret: `ghp_${'aB3dE5'.repeat(6)}` },
  { kind: 'a GitHub token', secret: `github_pat_${'aB3dE5_'.repeat(6)}` },
  { kind: 'a GitLab token', secret: `glpat-${'aB3dE5'.repeat(4)}` },
  { kind: 'an AWS access key', secret: `AKIA${'ABCD2345'.repeat(2)}` },
  { kind: 'a Slack token', secret: `xoxb-${'1234567890-'.repeat(2)}abcdef` },
  { kind: 'a Google API key', secret: `AIza${'aB3dE5_'.repeat(5)}` },
  { kind: 'an NVIDIA API key', secret: `nvapi-${'aB3dE5_'.repeat(6)}` },
  { kind: 'a signed token (JWT)', secret: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz' },
  { kind: 'an API key of Echelon', secret: `echelon_0123456789abcdef_${'aB3dE5g'.repeat(6)}x` },
  { kind: 'a key of signed webhooks', secret: `whsec_${'aB3dE5gH'.repeat(4)}` },
  { kind: 'the URL of a webhook', secret: `hooks.slack.com/services/T01/B01/${'aB3dE5'.repeat(4)}` },
  { kind: 'a private key', secret: '-----BEGIN RSA PRIVATE KEY-----' },
  { kind: 'an address with a password', secret: 'user:pa55word@' },
].map(({ kind, secret }) => ({
  kind,
  secret: kind.startsWith('an address') ? `redis://${secret}host/1` : secret,
}));

/** Ordinary texts of specs and trainings. */
export const PLAIN: readonly string[] = [
  'Qwen/Qwen2.5-1.5B-Instruct',
  '0123456789abcdef0123456789abcdef01234567',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '/shared/checkpoints/k4_hgpo_mean_std_norm/global_step_150',
  's3://bucket/prefix/run-2026-11-21T22-10-04',
  'https://host:8080/a@b',
  'ssh://git@github.com/langfengQ/verl-agent',
  'task-sk-learning-rate-sweep-over-many-seeds',
  'hf_home and hf_transfer',
  'seed 2147483647, lr 1e-6, actor/token_mean_loss 0.123',
  '6f1c2d9e-8a4b-4c3d-9e2f-1a2b3c4d5e6f',
  'reward(a:b@c) of step-17',
];
