/** HTTP client of a running Duelog, for the command line and the library: requests, pages, batches, lines of runs. */
export { type Address, ApiClient, knownCode, pages, pagesOf, path, type Request } from './api-client.ts'
export { type Applied, type LineResult, uploadLines } from './batch-upload.ts'
export { followPauseMs, type RunLinesOptions, runLinePages } from './run-lines.ts'
