/** Safe handling of addresses, host names, URLs, lines and responses of others. */
export { foreignBy, hasUser, ipv6Groups, isLoopbackName } from './addresses.ts'
export { AnswerTooLong, answerText, decodeUtf8, type Line, lineGroups, utf8Problem } from './bodies.ts'
export { agentFrom, type Certificates, type Fetch, fetchWith, isLate, isRefused, isUntrusted, reasonOf } from './tls-fetch.ts'
