import type { SessionKey } from '@allium/core'
import type { Host } from '../host.ts'
import type { Place } from '../http/fair-share.ts'
import { fail } from '../http/problem.ts'
import type { Sdk } from './sdk.ts'
import { type Asking, authOf, mcpServer } from './server.ts'

type Transport = InstanceType<Sdk['Transport']>

/** Sessions of MCP, in which a server can ask back. */
export interface Dialogs {
  answer(asked: Asking, body: unknown): Promise<Response>
}

interface Dialog {
  readonly transport: Transport
  readonly whose: string
  readonly place: Place
  heard: number
}

/** Milliseconds that a session lives of which nothing is heard. */
const idle = 30 * 60_000

/** They are in this process alone, and each is for whom began it. */
export function dialogs(host: Host, sdk: Sdk): Dialogs {
  const open = new Map<string, Dialog>()

  async function begin(of: Owner, asked: Asking, body: unknown): Promise<Response> {
    forgetIdle()
    let opened: string | undefined
    const place = host.shares.mcpSessions.take(of, () => (opened === undefined ? void transport.close() : end(opened)))
    const transport: Transport = new sdk.Transport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => {
        opened = id
        open.set(id, { transport, whose: nameOf(of), place, heard: host.clock.now() })
      },
      onsessionclosed: end,
      keepAliveMs: host.heartbeat,
    })
    try {
      await mcpServer(host, sdk, true).connect(transport as never)
      return await answered(transport, asked, body)
    } finally {
      // What did not open a session holds none.
      if (opened === undefined) place.release()
    }
  }

  function end(id: string | undefined): void {
    const dialog = id === undefined ? undefined : open.get(id)
    if (id === undefined || dialog === undefined) return
    open.delete(id)
    dialog.place.release()
    void dialog.transport.close()
  }

  function forgetIdle(): void {
    for (const [id, { heard }] of open) if (host.clock.now() - heard >= idle) end(id)
  }

  return {
    async answer(asked, body) {
      const of = ownerOf(host, asked.principal)
      const id = asked.request.headers.get('mcp-session-id')
      if (id === null) return begin(of, asked, body)
      const known = open.get(id)
      if (known?.whose !== nameOf(of)) throw fail('session.not_found', 'There is no such session of MCP.')
      known.heard = host.clock.now()
      known.place.touch()
      return answered(known.transport, asked, body)
    },
  }
}

function answered(transport: Transport, asked: Asking, body: unknown): Promise<Response> {
  return transport.handleRequest(asked.request, { parsedBody: body, authInfo: authOf(asked) })
}

type Owner = Pick<SessionKey, 'tenant' | 'owner'>

function nameOf({ tenant, owner }: Owner): string {
  return JSON.stringify([tenant, owner])
}

function ownerOf({ agents }: Host, principal: unknown): Owner {
  const [agent] = agents.values()
  const { tenant, owner } = agent?.session({ principal: principal as never }).key ?? { tenant: '', owner: '' }
  if (owner === '')
    throw fail('request.principal', "The principal has neither `userId` nor `user`: its sessions would be nobody's.")
  return { tenant, owner }
}
