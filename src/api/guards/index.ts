/** Who may call: tokens, roles, rates, connections. */

export { authentication } from './auth.ts'
export { compressAnswers } from './compression.ts'
export { keepRoom } from './connections.ts'
export type { JwtOptions } from './jwt.ts'
export { peerNote, peerToken, shownUrl, strangerText, urlOfPeer } from './peers.ts'
export { refusePipelining } from './pipelining.ts'
export { limitBodyTimes, limitRates, securityHeaders } from './request-guards.ts'
export type { ApiToken, Role } from './roles.ts'
export { SignIns } from './sign-ins.ts'
export { answerUnchanged } from './unchanged-answers.ts'
export { limitUnread } from './unread-responses.ts'
