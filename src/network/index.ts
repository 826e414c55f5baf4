/** Safe handling of addresses, host names, URLs and responses of other servers. */
export { ipv6Groups } from './ip-groups.ts'
export { isLoopbackName } from './loopback.ts'
export { AnswerTooLong, answerText } from './response-text.ts'
export { hasUser } from './url.ts'
