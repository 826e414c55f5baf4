import { writeFileSync } from 'node:fs'
import { it } from 'vitest'
import { createSystem } from './system-in-memory.ts'
it('x', async () => {
  await using system = createSystem()
  const a = await system.api.instance.inject('/openapi.json')
  writeFileSync('/tmp/gen/openapi.json', a.body)
  console.log(a.body.length, Object.keys(a.json().paths), (await system.api.instance.inject('/docs')).statusCode, (await system.api.instance.inject('/docs/swagger-ui.css')).body.length)
})
