/** The description of the API, as JSON and as a page. */
export { openApiRoutes } from './document.ts'
