import type { GateReport } from '../../gates/gate.ts'
import { conditionOf, gateWords } from '../words.ts'
import { html, type Markup } from './markup.ts'

const [width, height, edge] = [480, 48, 12]

/** Returns a picture of a gate: the interval, the limit, and the side of it that passes. */
export function intervalChart(gate: GateReport): Markup | undefined {
  const { interval, estimate } = gate
  if (interval === undefined || estimate === undefined) return undefined
  const limit = limitOf(gate.gate)
  const [low, high] = [Math.min(interval[0], limit), Math.max(interval[1], limit)]
  const margin = Math.max((high - low) * 0.15, 0.01)
  const x = (value: number) =>
    Math.round((edge + ((value - low + margin) / (high - low + 2 * margin)) * (width - 2 * edge)) * 10) / 10
  const zone = 'min' in gate.gate ? [x(limit), width - edge] : [edge, x(limit)]
  const label = `${conditionOf(gate.gate)}: ${gateWords(gate).result}`
  return html`<svg class="chart ${gate.verdict}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">
<rect class="zone" x="${zone[0]}" y="6" width="${(zone[1] ?? 0) - (zone[0] ?? 0)}" height="36"/>
<line class="axis" x1="${edge}" y1="24" x2="${width - edge}" y2="24"/>
<line class="range" x1="${x(interval[0])}" y1="24" x2="${x(interval[1])}" y2="24"/>
<line class="limit" x1="${x(limit)}" y1="2" x2="${x(limit)}" y2="46"/>
<circle class="mean" cx="${x(estimate)}" cy="24" r="7"/></svg>`
}

function limitOf(gate: GateReport['gate']): number {
  if ('min' in gate) return gate.min
  return 'maxDrop' in gate ? gate.maxDrop : gate.maxRatio
}
