/** docs/ACCESS.md: the rights that each role needs on a cluster with ACLs, from schemas/access.ts. */
import { type AccessRole, accessOf, accessRoles } from '../../schemas/access.ts'
import { code, table } from './markdown.ts'

const names = { prefix: 'duelog.', targets: ['<target topic>'], foreign: ['<foreign topic>'], pools: ['<pool>'] }

export function accessPage(): string {
  const tables = (Object.entries(accessRoles) as [AccessRole, string][]).map(([role, text]) => {
    const rows = accessOf(role, names).map(({ resource, name, pattern, operations, why }) => [
      resource,
      code(pattern === 'prefixed' ? `${name}*` : name),
      operations.join(', '),
      why,
    ])
    return `## ${role}\n\n${text[0]?.toUpperCase()}${text.slice(1)}.\n\n${table(['Resource', 'Name', 'Operations', 'For'], rows)}`
  })
  return `# Access

<!-- Made by docs/generate.ts from schemas/access.ts: change that, then run \`npm run generate\`. -->

The rights that the principal of each process needs on a Kafka cluster with ACLs, with the default prefix. A \`*\` at the end means a prefixed ACL. A process with several roles needs the tables of all its roles. Kafka allows \`Describe\` with \`Read\` or \`Write\`, and \`DescribeConfigs\` with \`AlterConfigs\`, so the tables do not repeat them. \`duelog acls --role scheduler,api --principal User:duelog\` prints the commands that grant them, for your prefix, pools and topics. A test runs each role on a broker with an authorizer and exactly these rights, and reads in the log of the authorizer that each of them is needed and none is missing.

The topics must exist. Either let \`duelog topics apply\` create them under a principal with the table *setup*, or grant that table to the processes too. Your own readers, such as a console, need \`Read\` on the topics that they read and on their group.

If a right is missing, the log, \`GET /readyz\` and the command line say so. They name the error code \`kafka-denied\`, the operation, the principal and the right to grant.

${tables.join('\n\n')}
`
}
