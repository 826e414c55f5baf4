/**
 * src/answers/answers.ts: the types of what the HTTP API takes and answers, for the dashboard and the CLI. oazapfts makes a whole
 * client of the description; only its types are kept. (openapi-typescript needs an older TypeScript than ours.)
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSource } from 'oazapfts'
import { openApiDocument } from './openapi.ts'

/** oazapfts writes only types that a JSON answer uses. The data of an event is none, so it is put in the place of one. */
function withEvents(): object {
  const events = openApiDocument.paths['/v1/events']?.get as { responses: object }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/StatsMessage' } } }
  const get = { ...events, responses: { 200: { description: 'Events', content } } }
  return { ...openApiDocument, paths: { ...openApiDocument.paths, '/v1/events': { get } } }
}

async function clientSource(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'duelog-openapi-'))
  try {
    const path = join(folder, 'openapi.json')
    writeFileSync(path, JSON.stringify(withEvents()))
    return await generateSource(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const source = await clientSource()

export function answerTypes(): string {
  // Each type ends with "};" or on its own line; the functions of the client begin after the last one.
  const types = source.match(/^export type [\s\S]*?;$(?=\n(?:export|\/\*\*))/gm) ?? []
  if (types.length === 0) throw new Error('oazapfts made no types; has the form of its output changed?')
  const text = types.map((type) => type.replace(/;$/gm, '').replaceAll('    ', '  ').replaceAll('"', "'")).join('\n\n')
  return `// Made by docs/generate.ts from the OpenAPI document: change the schemas in src/api/schemas, then run \`npm run generate\`.\n\n${text}\n`
}
