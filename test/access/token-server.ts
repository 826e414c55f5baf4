/** An identity provider for tests: a token endpoint that signs with jose, and the keys that brokers check the tokens with. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

export const issuer = 'https://id.example.org'
export const audience = 'kafka'

/** How the token endpoint answers, for a test that wants a failure. */
type Answer = { status: number; body: string; headers?: Record<string, string> } | 'silence'

export class TokenServer {
  readonly url: string
  /** Tokens that were issued. */
  issued = 0
  /** Requests for a token. */
  requests = 0
  /** Life of the next tokens. */
  livesSeconds = 300
  /** Absent: a token for the right secret. */
  answer: Answer | undefined
  /** The parameters of the last request. */
  asked = new URLSearchParams()
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(secrets: Record<string, string>): Promise<TokenServer> {
    const { privateKey, publicKey } = await generateKeyPair('RS256')
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }] })
    const server = createServer((request, response) => void answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const tokens = new TokenServer(server)
    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const json = (status: number, body: string, headers = {}): unknown =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
      if (request.url === '/jwks') return void json(200, jwks)
      tokens.asked = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
      tokens.requests++
      const { answer: fixed } = tokens
      if (fixed === 'silence') return
      if (fixed !== undefined) return void json(fixed.status, fixed.body, fixed.headers)
      const basic = Buffer.from((request.headers.authorization ?? '').slice('Basic '.length), 'base64').toString()
      const [id = '', secret = ''] = basic.split(':').map(decodeURIComponent)
      if (secrets[id] !== secret)
        return void json(401, JSON.stringify({ error: 'invalid_client', error_description: `${secret} is wrong` }))
      tokens.issued++
      const value = await new SignJWT({ scope: tokens.asked.get('scope') ?? 'none' })
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .setSubject(id)
        .setIssuer(issuer)
        .setAudience(tokens.asked.get('audience') ?? audience)
        .setIssuedAt()
        .setExpirationTime(`${tokens.livesSeconds}s`)
        .setJti(String(tokens.issued))
        .sign(privateKey)
      json(200, JSON.stringify({ access_token: value, token_type: 'Bearer', expires_in: tokens.livesSeconds }))
    }
    return tokens
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
