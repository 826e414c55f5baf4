/** HTTP client of a running Duelog, for the command line and the library: requests, pages, batches, lines of runs. */
export { type Address, ApiClient, knownCode } from './api-client.ts'
export { type Applied, type LineResult, uploadLines } from './batch-upload.ts'
export { runLinePages } from './run-lines.ts'
