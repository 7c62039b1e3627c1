import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentCard } from '@a2a-js/sdk'
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler } from '@a2a-js/sdk/server/express'
import type { Agent } from 'allium'
import express from 'express'
import { AlliumExecutor } from './allium-executor.ts'

/** Serves an agent to other agents on a free port. Callers authenticate with a key. */
export async function serveA2A(agent: Agent, keys: ReadonlyMap<string, string>) {
  const app = express()
  const http = createServer(app).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const requestHandler = new DefaultRequestHandler(
    cardOf(agent, url),
    new InMemoryTaskStore(),
    new AlliumExecutor(agent),
  )
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }))
  app.use('/a2a', (request, response, next) => {
    if (userOf(request, keys) !== undefined) return next()
    response.status(401).json({ error: 'Nobody is signed in.' })
  })
  const userBuilder = async (request: express.Request) => ({
    isAuthenticated: true,
    userName: userOf(request, keys) ?? '',
  })
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder }))
  const close = async () => {
    http.closeAllConnections()
    http.close()
    await agent.dispose()
  }
  return { url, close }
}

function userOf({ headers }: express.Request, keys: ReadonlyMap<string, string>): string | undefined {
  return keys.get(headers.authorization?.replace('Bearer ', '') ?? '')
}

function cardOf({ name }: Agent, url: string): AgentCard {
  return {
    name,
    description: 'Books meeting rooms; a person approves.',
    version: '1.0.0',
    supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  }
}
