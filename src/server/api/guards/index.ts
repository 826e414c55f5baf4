/** Who may call: tokens, roles, rates, connections. */

export type { ApiToken, Role } from '../../peers/index.ts'
export { authentication } from './auth.ts'
export type { JwtOptions } from './jwt.ts'
export { keepRoom, limitBodyTimes, limitRates, refusePipelining, securityHeaders } from './request-guards.ts'
export { SignIns } from './sign-ins.ts'
export { answerUnchanged, compressAnswers, limitUnread } from './unread-responses.ts'
