import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ModelRef } from 'allium'
import { openBooks } from './books.ts'
import { createChatAgent } from './chat-agent.ts'
import { chatServer } from './chat-server.ts'
import { playedModel } from './played-model.ts'
import type { Principal } from './principal.ts'

export interface ListenOptions {
  /** The users by API key. */
  keys: ReadonlyMap<string, Principal>
  log(line: string): void
  /** @default the model in ALLIUM_MODEL, or a scripted one */
  model?: ModelRef
  /** @default a free port */
  port?: number
}

/** The whole backend, on 127.0.0.1. */
export async function listen({
  keys,
  log,
  model = process.env.ALLIUM_MODEL || playedModel(),
  port = 0,
}: ListenOptions) {
  const books = openBooks()
  const agent = createChatAgent(model, books.ledger)
  const server = chatServer({ agent, books, whoIs: (key) => keys.get(key), log })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await agent.dispose()
    },
  }
}
