/** The table of what was tried says what the tests of this checkout use. */
import { expect, test } from 'vitest'
import { kafkaVersion, registryVersion } from '../../src/program/embedded/artifacts.ts'
import { readHouseFile } from '../house/tree.ts'

test('versions of broker, registry and Node are those of the tests', () => {
  const [, table = ''] = readHouseFile('docs/DEPLOYMENT.md').text.split('\n## What was tried\n')
  expect(table).toContain(`Apache Kafka ${kafkaVersion}`)
  expect(table).toContain(`Apicurio Registry ${registryVersion}`)
  expect(table).toContain(`Node ${process.versions.node.split('.')[0]}`)
})
