/** Opens what makes previews. */

import type { Metrics } from '../lib/metrics/metrics.ts';
import { PreviewRuns, type RunTools } from './preview-runs.ts';

export interface OpenPreviews {
  runs: PreviewRuns;
  /** Ends the previews that are under way, once their threads are closed. */
  close(): Promise<void>;
}

export async function openPreviews({
  metrics,
  ...tools
}: Omit<RunTools, 'onMade'> & { metrics: Metrics }): Promise<OpenPreviews> {
  const runs = new PreviewRuns({ ...tools, onMade: metrics.work.onPreviewMade });
  await runs.open();
  metrics.addReadings({
    previewsRunning: () => runs.load.making,
    previewsWaiting: () => runs.load.waiting,
  });
  return { runs, close: () => runs.close() };
}
