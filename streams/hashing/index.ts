/** Hashes that give the same number for the same text on every machine. */
export { fnv, hashFraction } from './hashes.ts'
export { hiddenHash } from './hidden-hash.ts'
