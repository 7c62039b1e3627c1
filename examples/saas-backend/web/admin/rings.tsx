import { ms, type Placed, type Shown, weightOf } from './onion-layers.ts'

/** Pixels. */
const row = 26

/** Draws the layers from the outermost down, and time from left to right. The table below has the same data as text. */
export function Rings({ layers, duration, chosen, choose }: Shown & { duration: number }) {
  const depth = Math.max(...layers.map((layer) => layer.depth)) + 1
  const percent = (at: number) => (duration > 0 ? (100 * Math.min(at, duration)) / duration : 0)
  const boxOf = ({ start, duration: took, depth }: Placed) => {
    const left = Math.min(percent(start), 99.5)
    return { top: depth * row, left: `${left}%`, width: `${Math.max(0.5, percent(start + took) - left)}%` }
  }
  return (
    <div className="rings" style={{ height: depth * row }} role="img" aria-label="Layers over time">
      {layers.map((layer, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the table below has the same as buttons
        // biome-ignore lint/a11y/noStaticElementInteractions: the table below has the same as buttons
        <span
          key={`${at}`}
          className={`${weightOf(layer.decision)}${layer.core ? ' core' : ''}${chosen === at ? ' chosen' : ''}`}
          style={boxOf(layer)}
          title={`${layer.scope} · ${layer.layer}: ${layer.decision}, ${ms(layer.self)} of ${ms(layer.duration)} in the layer itself`}
          onClick={() => choose(at)}
        >
          {layer.layer}
        </span>
      ))}
    </div>
  )
}
