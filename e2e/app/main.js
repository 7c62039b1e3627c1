import { turn } from './turn.js'

console.log(JSON.stringify(await turn()))
