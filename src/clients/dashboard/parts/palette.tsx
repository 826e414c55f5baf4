/** The palette: views, jobs by ID, and actions, by keyboard. Ctrl-K or / opens it. ? shows what the view is for, and all keys. */
import { signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import {
  api,
  chooseTheme,
  type Given,
  go,
  type Job,
  jobHref,
  jobState,
  leave,
  mayOperate,
  question,
  route,
  session,
  setTo,
  shownPages,
  statusWord,
  useResource,
  viewHelp,
} from '../model/index.ts'
import { Modal } from './modal.tsx'

const open = signal<'palette' | 'keys' | undefined>(undefined)

interface Entry {
  title: string
  hint: string
  run: () => void
}

const shownMax = 12
const foundMax = 5
/** Characters of an ID that are searched for. */
const searchedCharsMax = 255
/** The search begins when nothing was typed for so long. */
const typedMs = 150

type FoundJob = Pick<Job, 'id' | 'status' | 'reason'>

/** The jobs whose ID begins with the text, then those that contain it. */
async function jobsOf(text: string, signal: AbortSignal): Promise<FoundJob[]> {
  if (text === '') return []
  const listed = async (filter: Given<'listJobs'>) => (await api.listJobs({ ...filter, limit: foundMax, signal })).jobs
  const pages = await Promise.all([listed({ idPrefix: text }), listed({ idContains: text })])
  return [...new Map(pages.flat().map((job) => [job.id, job])).values()].slice(0, foundMax)
}

/** Undefined: the answer is not there yet. */
function useFoundJobs(text: string): readonly FoundJob[] | undefined {
  const wanted = text.trim().slice(0, searchedCharsMax)
  const settled = useSignal(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setTo(settled, wanted), typedMs)
    return () => clearTimeout(timer)
  }, [wanted])
  const found = useResource(`found ${settled.value}`, (signal) => jobsOf(settled.value, signal), false)
  return settled.value === wanted ? found.value.value : undefined
}

/** What the text leads to, the nearest first. A text is also a part of the ID of a job. */
function entriesOf(text: string, jobs: readonly FoundJob[] | undefined): Entry[] {
  const wanted = text.trim()
  const views = shownPages.value.map(({ title, href }): Entry => ({ title, hint: 'View', run: () => go(href) }))
  const actions: Entry[] = [
    ...(mayOperate.value ? [{ title: 'New job', hint: 'Action', run: () => go('/jobs?new') }] : []),
    ...(['light', 'dark', 'system'] as const).map((theme) => ({
      ...{ title: `Theme: ${theme}`, hint: 'Action' },
      run: () => chooseTheme(theme),
    })),
    { title: 'Help on this view, and keyboard shortcuts', hint: 'Action', run: showHelp },
    { title: 'Documentation of the API', hint: 'Link', run: () => location.assign('/docs') },
    ...(session.value?.authentication === true ? [{ title: 'Sign out', hint: 'Action', run: () => void leave() }] : []),
  ]
  const matching = [...views, ...actions].filter(({ title }) => title.toLowerCase().includes(wanted.toLowerCase()))
  if (wanted === '') return matching
  return [
    ...matching,
    ...(jobs ?? []).map((job) => ({
      ...{ title: job.id, hint: `Job, ${statusWord(jobState(job))}` },
      run: () => go(jobHref(job.id)),
    })),
    { title: wanted, hint: 'Jobs whose ID contains this', run: () => go(`/jobs?${new URLSearchParams({ idContains: wanted })}`) },
    { title: wanted, hint: 'Jobs with this tag', run: () => go(`/jobs?${new URLSearchParams({ tag: wanted })}`) },
  ].slice(0, shownMax)
}

const keys: [key: string, meaning: string][] = [
  ['Ctrl K, /', 'Go to a view, a job or an action'],
  ['?', 'Help on this view, and these keys'],
  ['↑ ↓ ← → in the calendar', 'Next cell; Enter opens it'],
  ['Tab, Enter', 'Next control, use it'],
  ['← → in a chart', 'Read the values, one step at a time; Page Up and Page Down: ten; Home and End'],
  ['Ctrl Space', 'In a definition: names and values that fit'],
  ['Ctrl Z, Ctrl Y', 'In a definition: undo and redo, for form and JSON together'],
  ['Esc', 'Close, or cancel a question'],
]

export const showHelp = (): void => setTo(open, 'keys')
const close = (): void => setTo(open, undefined)

/** The section of /docs with the requests of a view. */
export const apiHref = (view: keyof typeof viewHelp): string => `/docs#/${encodeURIComponent(viewHelp[view]?.api ?? 'System')}`

const isText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Opens the palette by its keys, for as long as it is on the page. */
export function Palette() {
  // Before the first paint: a key that comes with it would be lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (question.value !== undefined || open.value !== undefined) return
      const isPalette =
        (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isText(event.target))
      if (!isPalette && (event.key !== '?' || isText(event.target))) return
      event.preventDefault()
      open.value = isPalette ? 'palette' : 'keys'
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  if (open.value === undefined) return null
  const isPalette = open.value === 'palette'
  return (
    <Modal key={open.value} class="palette" label={isPalette ? 'Go to' : 'Help'} close={close}>
      {isPalette ? <Search /> : <Keys />}
    </Modal>
  )
}

function Search() {
  const text = useSignal('')
  const chosen = useSignal(0)
  const jobs = useFoundJobs(text.value)
  const entries = entriesOf(text.value, jobs)
  const at = Math.min(chosen.value, entries.length - 1)
  const use = (entry: Entry | undefined): void => {
    if (entry === undefined) return
    close()
    entry.run()
  }
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="View, job ID or action"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={at < 0 ? undefined : `palette-${at}`}
        placeholder="View, job ID or action"
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
          chosen.value = 0
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step === 0 && event.key !== 'Enter') return
          event.preventDefault()
          if (event.key === 'Enter') use(entries[at])
          else chosen.value = (at + step + entries.length) % Math.max(1, entries.length)
        }}
      />
      <p class="aside" role="status">
        {text.value.trim() !== '' &&
          (jobs === undefined ? 'Searching for jobs …' : jobs.length === 0 && 'No job has this in its ID.')}
      </p>
      <div id="palette-entries" role="listbox" aria-label="Matches">
        {entries.map((entry, index) => (
          // The keys are those of the field above.
          <div
            key={`${entry.title} ${entry.hint}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => use(entry)}
            onKeyDown={(event) => event.key === 'Enter' && use(entry)}
          >
            <bdi>{entry.title}</bdi>
            <span class="aside">{entry.hint}</span>
          </div>
        ))}
      </div>
    </>
  )
}

function Keys() {
  const { view } = route.value
  const help = viewHelp[view]
  return (
    <>
      {help !== undefined && (
        <>
          <h2>About this view</h2>
          <p>{help.text}</p>
          <p class="aside">
            More: <span class="code">{help.page}</span> of this version, and the requests on the page{' '}
            <a href={apiHref(view)} target="_blank" rel="noreferrer">
              API
            </a>
            .
          </p>
        </>
      )}
      <h2>Keyboard shortcuts</h2>
      <dl class="keys">
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons end">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </>
  )
}
