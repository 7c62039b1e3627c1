import { workflow } from '@allium/durable/workflow'

export default workflow({
  name: 'refund',
  version: '1',
  async run(ctx) {
    const amount = await ctx.step('load', () => 20)
    return { paid: amount }
  },
})
