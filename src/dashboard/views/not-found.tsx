/** View for an unknown address. */
import { Empty, Heading } from '../parts/index.ts'

export function NotFoundView() {
  return (
    <>
      <Heading title="Page not found" />
      <Empty>
        There is no page at this address. <a href="/">Go to Now</a>, or <a href="/jobs">search for a job</a>.
      </Empty>
    </>
  )
}
