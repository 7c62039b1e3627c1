import { Agent } from '@allium/core'
import { durableRestate } from '../../../durable-restate/src/index.ts'
import { serveHere } from '../../../durable-restate/test/server.ts'
import { slowModel } from './slow-model.ts'

/** A process that runs a backlog for Restate, until its parent ends it. */
const { ingress, duration } = JSON.parse(process.argv[2] ?? '{}')
const { object } = durableRestate(new Agent({ model: slowModel(duration) }), { ingress, name: 'backlog' })
const { port } = await serveHere([object])
process.send?.(port)
