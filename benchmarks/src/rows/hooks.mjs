import { mock, weather } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

const count = 300
let fired = 0
const fire = () => {
  fired++
}

/** "model → tool → model" inside ten onion layers, or ten lifecycle objects: in one layer, or each in its own. @param {boolean} nested */
export function hooks(nested) {
  return {
    layers: () => turns(() => ten((i) => layer(`layer${i}`))),
    async allium() {
      const { from } = await import('@allium/hooks')
      return turns(() => (nested ? ten((i) => from(lifecycle, { as: `layer${i}` })) : [from(ten(() => lifecycle))]))
    },
  }
}

const ten = (make) => Array.from({ length: 10 }, (_, i) => make(i))

/** The same eight points of a run as the objects have. */
function layer(name) {
  const around = async (_, next) => {
    fire()
    const result = await next()
    fire()
    return result
  }
  return { name, turn: around, model: around, tool: around }
}

const lifecycle = {
  onStart: fire,
  onIteration: fire,
  onUsage: fire,
  onBeforeToolCall: fire,
  onAfterToolCall: fire,
  onFinish: fire,
}

async function turns(layers) {
  const { bare } = await import('../sides/allium.mjs')
  const agent = await bare({ model: mock({ steps: 1 }), tools: [weather], layers: layers() })
  const { add, each, check } = tally()
  const turn = async () => add(await agent.session().run('Hi'))
  return { sample: () => timed(count, turn), check: () => ({ ...check(), ...each({ fired }) }) }
}
