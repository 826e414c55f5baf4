/** Safe handling of addresses, host names, URLs and responses of other servers. */
export { hasUser, ipv6Groups, isLoopbackName } from './addresses.ts'
export { AnswerTooLong, answerText } from './response-text.ts'
export { agentFrom, type Certificates, type Fetch, fetchWith, isLate, isUntrusted, reasonOf } from './tls-fetch.ts'
