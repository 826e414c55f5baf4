/** Damages to the folder of a local store while no process has it open. */
import { cp, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Chance } from './seeded.ts'

/** One damage happens between two lives of an owner. stale: an older copy comes back. */
export const damages = ['kept', 'kept', 'lost', 'stale', 'stale', 'truncated', 'flipped'] as const
export type Damage = (typeof damages)[number]

export class StoreFolder {
  readonly #folder: string
  readonly #copy: string
  #copied = false

  constructor(folder: string) {
    this.#folder = folder
    this.#copy = `${folder}-copy`
  }

  /** Keeps a copy of the folder in its current state. */
  async copy(): Promise<void> {
    if (!(await exists(this.#folder))) return
    await rm(this.#copy, { recursive: true, force: true })
    await cp(this.#folder, this.#copy, { recursive: true })
    this.#copied = true
  }

  async suffer(damage: Damage, chance: Chance): Promise<void> {
    if (damage === 'kept' || !(await exists(this.#folder))) return
    if (damage === 'lost') return rm(this.#folder, { recursive: true })
    if (damage === 'stale') {
      if (!this.#copied) return
      await rm(this.#folder, { recursive: true })
      return cp(this.#copy, this.#folder, { recursive: true })
    }
    const file = chance.pick(await filesIn(this.#folder))
    const { size } = await stat(file)
    if (damage === 'truncated') await truncate(file, chance.below(size + 1))
    else if (size > 0) await flip(file, chance.below(size))
  }
}

/** Every file in the folder, in a fixed order. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** Inverts all bits of one byte. */
export async function flip(file: string, at: number): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    const byte = Buffer.alloc(1)
    await handle.read(byte, 0, 1, at)
    byte[0] = ~(byte[0] ?? 0)
    await handle.write(byte, 0, 1, at)
  } finally {
    await handle.close()
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
