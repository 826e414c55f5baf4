/** What the HTTP API takes and answers, as types. They are made from its OpenAPI document. */
export type * from './answers.ts'
