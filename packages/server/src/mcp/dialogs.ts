import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'
import type { Sdk } from './sdk.ts'
import { type Asking, authOf, mcpServer } from './server.ts'

type Transport = InstanceType<Sdk['Transport']>

/** Sessions of MCP, in which a server can ask back. */
export interface Dialogs {
  answer(asked: Asking, body: unknown): Promise<Response>
}

/** Milliseconds that a session lives of which nothing is heard, and how many there are at most. */
const idle = 30 * 60_000
const most = 1000

/** They are in this process alone, and each is for whom began it. */
export function dialogs(host: Host, sdk: Sdk): Dialogs {
  const open = new Map<string, { transport: Transport; whose: string; heard: number }>()

  async function begin(whose: string): Promise<Transport> {
    forgetIdle()
    if (open.size >= most) throw fail('store.full', 'There are too many sessions of MCP.')
    const transport: Transport = new sdk.Transport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void open.set(id, { transport, whose, heard: host.clock.now() }),
      onsessionclosed: (id) => void open.delete(id),
      keepAliveMs: host.heartbeat,
    })
    await mcpServer(host, sdk, true).connect(transport as never)
    return transport
  }

  function forgetIdle(): void {
    for (const [id, { transport, heard }] of open) {
      if (host.clock.now() - heard < idle) continue
      open.delete(id)
      void transport.close()
    }
  }

  return {
    async answer(asked, body) {
      const whose = whoseIs(host, asked.principal)
      const id = asked.request.headers.get('mcp-session-id')
      const known = id === null ? undefined : open.get(id)
      if (id !== null && known?.whose !== whose) throw fail('session.not_found', 'There is no such session of MCP.')
      if (known !== undefined) known.heard = host.clock.now()
      const transport = known?.transport ?? (await begin(whose))
      return transport.handleRequest(asked.request, { parsedBody: body, authInfo: authOf(asked) })
    },
  }
}

function whoseIs({ agents }: Host, principal: unknown): string {
  const [agent] = agents.values()
  const { tenant, owner } = agent?.session({ principal: principal as never }).key ?? { tenant: '', owner: '' }
  if (owner === '')
    throw fail('request.principal', "The principal has neither `userId` nor `user`: its sessions would be nobody's.")
  return JSON.stringify([tenant, owner])
}
