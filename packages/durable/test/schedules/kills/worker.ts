import { once } from 'node:events'
import { scriptedModel } from '@allium/testing'
import { type Life, open, processOn } from './life.ts'

/** A process that executes schedules until it is killed, in the middle of a statement. */
process.send?.('loaded')
const [life] = (await once(process, 'message')) as [Life]
process.disconnect?.()
let statements = 0
const store = open(life, () => {
  if (++statements >= life.kill) process.kill(process.pid, 'SIGKILL')
})
processOn(store, scriptedModel(Array.from({ length: 200 }, () => 'Done.')))
