/** The state of a pool or a worker, and the buttons that change it, for those who may. */
import { mayOperate, type PauseWord, type Pool } from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { Status } from './status.tsx'
import { When } from './when.tsx'

interface PauseProps {
  /** Completes the labels for screen readers, such as `the pool mail`. */
  of: string
  state: Pool['state']
  change(word: PauseWord): Promise<unknown>
}

export function PauseState({ state, since }: { state: Pool['state']; since: string | null }) {
  if (state === 'ACTIVE') return <Status of={state} />
  return (
    <>
      <Status of={state} /> {since !== null && <When at={since} />}
    </>
  )
}

export function PauseButtons({ of, state, change }: PauseProps) {
  if (!mayOperate.value) return null
  const button = (word: PauseWord, text: string) => (
    <ActionButton key={word} label={`${text} ${of}`} run={() => change(word)}>
      {text}
    </ActionButton>
  )
  if (state !== 'ACTIVE') return <div class="buttons tight start">{button('resume', 'Resume')}</div>
  return (
    <div class="buttons tight start">
      {button('pause', 'Pause')}
      {button('drain', 'Drain')}
    </div>
  )
}
