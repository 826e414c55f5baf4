/** Safe handling of addresses, host names, URLs, lines and responses of others. */
export { hasUser, ipv6Groups, isLoopbackName } from './addresses.ts'
export { foreignBy } from './foreign-requests.ts'
export { type Line, lineGroups } from './ndjson-lines.ts'
export { AnswerTooLong, answerText } from './response-text.ts'
export { agentFrom, type Certificates, type Fetch, fetchWith, isLate, isUntrusted, reasonOf } from './tls-fetch.ts'
export { decodeUtf8, utf8Problem } from './utf8.ts'
