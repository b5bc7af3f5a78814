/** Opens what works on previews when nobody asks: those that are made, and the deletion of those whose hour is over. */

import type { Metrics } from '../../lib/metrics/metrics.ts';
import { PreviewExpiry } from './expiry.ts';
import { PreviewRuns, type RunTools } from './runs.ts';

export interface OpenPreviews {
  runs: PreviewRuns;
  /** Ends the previews that are under way, once their threads are closed. */
  close(): Promise<void>;
}

/** @param isLeader whether this process deletes the old ones */
export async function openPreviews(
  { metrics, ...tools }: Omit<RunTools, 'onMade'> & { metrics: Metrics },
  isLeader: boolean,
): Promise<OpenPreviews> {
  const runs = new PreviewRuns({ ...tools, onMade: metrics.work.onPreviewMade });
  await runs.open();
  metrics.addReadings({
    previewsRunning: () => runs.load.making,
    previewsWaiting: () => runs.load.waiting,
  });
  const expiry = new PreviewExpiry(tools);
  if (isLeader) expiry.start();
  return {
    runs,
    async close() {
      await Promise.all([runs.close(), expiry.close()]);
    },
  };
}
