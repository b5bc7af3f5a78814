/** The frame of a review: what changes, whether it can be published, whom it touches, and publishing. */

import type { ComponentChildren } from 'preact';
import type { Resource } from '../resource.ts';
import type { PublishCheck } from '../types.ts';
import { Part } from './page.tsx';
import { CheckResult } from './review/check.tsx';

export { CheckResult } from './review/check.tsx';
export { OF_DEEDS_ALONE, OldNote, reasonOfCheck } from './review/old-note.tsx';
export { PublishBox } from './review/publish-box.tsx';
export { type Reviewed, useReviewed } from './review/reviewed.ts';

interface ReviewProps {
  /** What is different from the version below. */
  changes: ComponentChildren;
  /** What publishing would answer; null where the API has no such check. */
  check: Resource<PublishCheck> | null;
  /** Whose parameter files are named; null where links to them make no sense. */
  configurationName: string | null;
  /** A `PreviewImpact`. */
  impact: ComponentChildren;
  /** A `PublishBox`. */
  publish: ComponentChildren;
}

/** The parts in the order in which people go through them, with links that lead to each. */
export function ReviewLayout({ changes, check, configurationName, impact, publish }: ReviewProps) {
  const isChecked = check !== null && check.state !== 'forbidden';
  return (
    <div class="review">
      <nav aria-label="Parts of the review" class="review-parts">
        <a href="#changes">Changes</a>
        {isChecked && <a href="#check">Check</a>}
        <a href="#impact">Impact</a>
        <a href="#publish">Publish</a>
      </nav>
      <section id="changes" class="part">
        <h2>Changes</h2>
        {changes}
      </section>
      {isChecked && (
        <div id="check">
          <Part of={check} heading="Check">
            {(data) => <CheckResult check={data} configurationName={configurationName} />}
          </Part>
        </div>
      )}
      <section id="impact" class="part">
        <h2>Impact</h2>
        {impact}
      </section>
      <section id="publish" class="part">
        <h2>Publish</h2>
        {publish}
      </section>
    </div>
  );
}
