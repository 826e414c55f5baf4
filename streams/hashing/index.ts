/** Hashes that give the same number for the same text on every machine. */
export { fnv } from './fnv.ts'
export { hashFraction } from './hash-fraction.ts'
export { hiddenHash } from './hidden-hash.ts'
