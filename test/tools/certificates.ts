/** Certificates for tests: an authority, and what it signs, made by openssl. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Signed {
  certFile: string
  keyFile: string
  cert: string
  key: string
}

export interface Authority {
  caFile: string
  ca: string
  /** A certificate for this name, with 127.0.0.1 and localhost as addresses. */
  sign(name: string): Signed
}

/** `name` is the beginning of the names of the files in the folder. */
export function newAuthority(folder: string, name = 'ca'): Authority {
  const file = (end: string): string => join(folder, `${name}${end}`)
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', file('.key'), '-out', file('.pem'), '-subj', `/CN=${name}`, '-days', '2')
  const ca = readFileSync(file('.pem'), 'utf8')
  return {
    caFile: file('.pem'),
    ca,
    sign(who) {
      const [keyFile, certFile] = [file(`-${who}.key`), file(`-${who}.pem`)]
      openssl('req', ...key, '-keyout', keyFile, '-out', file(`-${who}.csr`), '-subj', `/O=Duelog/CN=${who}`)
      writeFileSync(file('.ext'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
      const request = ['-req', '-in', file(`-${who}.csr`), '-out', certFile, '-days', '2']
      openssl('x509', ...request, '-CA', file('.pem'), '-CAkey', file('.key'), '-CAcreateserial', '-extfile', file('.ext'))
      return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
    },
  }
}
