# SPDX-License-Identifier: Apache-2.0
# The Java machine finds the limits of its control group.
#: pinned
#: long
#: needs java
#: out Provider: cgroupv2
#: out Effective CPU Count: 1
#: out CPU Quota: 100000us
#: out Maximum Processes Limit: 512
java -XshowSettings:system -version 2>&1 | grep -E 'Provider|Effective CPU|Quota|Maximum Proc' | sed 's/^ *//'
