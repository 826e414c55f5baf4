/** Addresses, host names and answers of other servers, as far as they are safe to use. */
export { ipv6Groups } from './ip-groups.ts'
export { isLoopbackName } from './loopback.ts'
export { AnswerTooLong, answerText } from './response-text.ts'
export { hasUser } from './url.ts'
