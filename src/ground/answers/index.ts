/** What the HTTP API takes and answers, and a call for each of its routes. Types and routes are made from its OpenAPI document. */
export type * from './answers.ts'
export { type Api, type Call, type Lines, routes } from './api.ts'
export { type ApiRequest, apiOver, type Given, pagesOf, pathOf, problemIn } from './calls.ts'
