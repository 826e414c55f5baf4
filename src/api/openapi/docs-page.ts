/** The page at /docs: Swagger UI with its own files, so that it works without the internet. */
import { createRequire } from 'node:module'

export interface Asset {
  type: string
  /** Path of a file, or the text itself. */
  file?: string
  text?: string
}

const require = createRequire(import.meta.url)
const bundled = (name: string): string => require.resolve(`@fastify/swagger-ui/static/${name}`)

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Duelog API</title>
<link rel="icon" type="image/png" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
})
`

/** The page and its files, by path. */
export const docsAssets: Record<string, Asset> = {
  '/docs': { type: 'text/html; charset=utf-8', text: page },
  '/docs/start.js': { type: 'text/javascript; charset=utf-8', text: start },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8', file: bundled('swagger-ui-bundle.js') },
  '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', file: bundled('swagger-ui.css') },
  '/docs/favicon.png': { type: 'image/png', file: bundled('favicon-32x32.png') },
}

/** Swagger UI sets styles from its script and draws its icons as data. Requests go to this server alone. */
export const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
