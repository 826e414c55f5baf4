/** Commands on a process or a cluster. */
export { aclsCommand } from './acls-command.ts'
export { auditCommand } from './audit-command.ts'
export { benchCommand } from './bench-command.ts'
export { demoCommand } from './demo-command.ts'
export { generateCommand } from './generate-command.ts'
export { schemasCommand } from './schemas-command.ts'
export { topicsCommand } from './topics-command.ts'
export { upCommand } from './up-command.ts'
