import { pino } from 'pino'
import { expect, it } from 'vitest'
import { libraryLogger } from '../../src/ground/logging/index.ts'

function logged() {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, logger: libraryLogger(logger, 'http-server-line') }
}

it('names lines of a library, whatever they are called with, also of child loggers', () => {
  const { lines, logger } = logged()
  logger.info('told')
  logger.warn({ statusCode: 500 }, 'told with fields')
  logger.error(new Error('broken'))
  logger.child({ reqId: 'req-1' }).debug('told in a request')
  expect(lines).toMatchObject([
    { event: 'http-server-line', level: 30, msg: 'told' },
    { event: 'http-server-line', level: 40, statusCode: 500, msg: 'told with fields' },
    { event: 'http-server-line', level: 50, err: { message: 'broken' } },
    { event: 'http-server-line', level: 20, reqId: 'req-1', msg: 'told in a request' },
  ])
})

it('keeps the name of a line that has one', () => {
  const { lines, logger } = logged()
  logger.child({}).error({ event: 'request-failed' }, 'A request failed.')
  expect(lines).toMatchObject([{ event: 'request-failed' }])
})
