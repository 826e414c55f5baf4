/** Column of ids in byte order, one after another in one buffer, with a number for each. It takes about 9 bytes for each id more than the id itself. */

export interface IdQuery {
  idContains: string | undefined
  isHandler(number: number): boolean
}

export interface Found {
  ids: string[]
  /** The last id, if there may be more after it. */
  upTo: string | undefined
  /** Number of ids that were checked. */
  looked: number
}

export class IdColumn {
  /** Each id ends with a zero byte, which no id holds. */
  #text = Buffer.alloc(1 << 16)
  #starts = new Uint32Array(1 << 12)
  #numbers = new Uint32Array(1 << 12)
  #count = 0
  #end = 0

  get bytes(): number {
    return this.#end
  }

  get last(): string | undefined {
    return this.#count === 0 ? undefined : this.#idAt(this.#count - 1)
  }

  /** `id` must be above all ids that were pushed before. */
  push(id: Buffer, number: number): void {
    if (this.#end + id.length + 1 > this.#text.length) this.#text = grown(this.#text, Buffer.alloc(this.#text.length * 2))
    if (this.#count === this.#starts.length) {
      this.#starts = grown(this.#starts, new Uint32Array(this.#count * 2))
      this.#numbers = grown(this.#numbers, new Uint32Array(this.#count * 2))
    }
    this.#starts[this.#count] = this.#end
    this.#numbers[this.#count++] = number
    id.copy(this.#text, this.#end)
    this.#text[this.#end + id.length] = 0
    this.#end += id.length + 1
  }

  /** At most `room` ids above `after`. */
  search({ idContains, isHandler }: IdQuery, after: string | undefined, room: number): Found {
    const needle = idContains === undefined ? undefined : Buffer.from(idContains)
    const first = after === undefined ? 0 : this.#firstAfter(Buffer.from(after))
    const ids: string[] = []
    for (let at = first; ; at++) {
      if (needle !== undefined) at = this.#holding(needle, at)
      if (at >= this.#count) return { ids, upTo: undefined, looked: this.#count - first }
      if (!isHandler(this.#numbers[at] ?? 0)) continue
      ids.push(this.#idAt(at))
      if (ids.length === room) return { ids, upTo: ids.at(-1), looked: at + 1 - first }
    }
  }

  /** Index of the first id, from `at`, that contains the needle. */
  #holding(needle: Buffer, at: number): number {
    if (at >= this.#count) return this.#count
    const place = this.#text.subarray(0, this.#end).indexOf(needle, this.#starts[at])
    if (place < 0) return this.#count
    let [low, high] = [at, this.#count]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) <= place) low = middle
      else high = middle
    }
    return low
  }

  #firstAfter(id: Buffer): number {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (Buffer.compare(this.#bytesAt(middle), id) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #bytesAt(at: number): Buffer {
    const next = at + 1 < this.#count ? (this.#starts[at + 1] ?? 0) : this.#end
    return this.#text.subarray(this.#starts[at], next - 1)
  }

  #idAt(at: number): string {
    return this.#bytesAt(at).toString()
  }
}

function grown<Column extends Uint8Array | Uint32Array>(from: Column, to: Column): Column {
  to.set(from)
  return to
}
