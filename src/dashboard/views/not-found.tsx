/** An address that no view has. */
import { Empty, Heading } from '../parts/index.ts'

export function NotFoundView() {
  return (
    <>
      <Heading title="No such page" />
      <Empty>
        Nothing of Duelog is at this address. <a href="/">See how it runs now</a>, or <a href="/jobs">look for a job</a>.
      </Empty>
    </>
  )
}
