/** The description of the API, for programs and for people. */
export { openApiRoutes } from './routes.ts'
