/** The names of all benchmarks: the help of `duelog bench` lists them, and bench/run.ts must have a case for each. */
export const benchCases = [
  ...([
    'accept',
    'storm',
    'precision',
    'recurring',
    'partitions',
    'scale',
    'costs',
    'now',
    'paths',
    'restore',
    'restart',
  ] as const),
  ...(['idle', 'api', 'bulk', 'list', 'audit', 'heavy', 'heavy-whole', 'stores', 'history', 'history-postgres'] as const),
  ...(['operations', 'results', 'encode', 'test-systems', 'peers'] as const),
  ...(['flood-keys', 'flood-rates', 'flood-backfill', 'flood-retries', 'flood-triggers', 'flood-sockets'] as const),
  ...(['flood-lists', 'flood-rules', 'attacks'] as const),
] as const

export type BenchCase = (typeof benchCases)[number]
