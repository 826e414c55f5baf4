/** Which roles share an event loop. */
import { expect, test } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { roleSetsOf } from '../../src/program/system/role-sets.ts'

const shown = (env: Record<string, string>, isSeparate = true) => {
  const { main, front, executors } = roleSetsOf(readConfig(env), isSeparate)
  return { main: [...main].join(), front: [...front].join(), executors: `${executors.min}..${executors.max}` }
}

test.each<[roles: string, main: string, front: string, executors: string]>([
  ['all', 'scheduler,retrier', 'api,intake,auditor,history', '1..1'],
  ['scheduler,executor', 'scheduler', '', '1..1'],
  ['scheduler,api', 'scheduler', 'api', '0..0'],
  ['retrier,history', 'retrier', 'history', '0..0'],
  ['executor,api', 'api', '', '1..1'],
  // One set alone has a process of its own already.
  ['executor', 'executor', '', '0..0'],
  ['api,auditor', 'api,auditor', '', '0..0'],
  ['scheduler,retrier', 'scheduler,retrier', '', '0..0'],
])('roles %s: %s in the main process, "%s" in the front, %s executor processes', (roles, main, front, executors) => {
  expect(shown({ DUELOG_ROLES: roles })).toEqual({ main, front, executors })
})

test('all roles are in one process where somebody says so', () => {
  const all = 'scheduler,executor,retrier,intake,api,auditor,history'
  expect(shown({}, false)).toEqual({ main: all, front: '', executors: '0..0' })
})

test('the number of executor processes is that of the setting', () => {
  expect(shown({ DUELOG_EXECUTOR_PROCESSES: '2..3' })).toMatchObject({ main: 'scheduler,retrier', executors: '2..3' })
  expect(shown({ DUELOG_EXECUTOR_PROCESSES: '0' })).toMatchObject({ main: 'scheduler,executor,retrier', executors: '0..0' })
  expect(shown({ DUELOG_EXECUTOR_PROCESSES: '2', DUELOG_ROLES: 'executor' }, false)).toEqual({
    main: '',
    front: '',
    executors: '2..2',
  })
})
