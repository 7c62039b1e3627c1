import { turn } from './turn.js'

export default {
  async fetch() {
    return Response.json(await turn())
  },
}
