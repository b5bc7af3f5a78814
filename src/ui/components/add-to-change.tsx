/** Puts what is shown into a change set, in place of doing it at once. */

import { addToChange, type Collectable, labelOf, reasonAgainstProposing, useBasket } from '../basket.ts';
import { DeedButton } from './dialog.tsx';

interface Props extends Collectable {
  /** Why it cannot be proposed. It is shown beside the button. */
  reason?: string | null;
  onAdded?: () => void;
}

export function AddToChange({ reason = null, onAdded, ...collected }: Props) {
  const basket = useBasket();
  return (
    <DeedButton
      deed={labelOf(basket)}
      reason={reasonAgainstProposing() ?? reason}
      run={async () => {
        const done = await addToChange(basket, collected);
        onAdded?.();
        return done;
      }}
    />
  );
}
